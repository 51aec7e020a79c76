import { styleText } from "node:util";

/** Clears the line that the cursor is in. */
const CLEAR = "\r\x1b[K";

const encoder = new TextEncoder();

/** The place where a measurement shows what it does: a terminal, or a test. */
export interface Screen {
  /** Shows one or more lines of the result. */
  print(text: string): void;
  /** Shows one or more lines about what went wrong. */
  complain(text: string): void;
  /** Shows a line until the next one, or the result, takes its place; undefined where nobody would see it live. */
  readonly progress: ((line: string) => void) | undefined;
  /** Whether the result may be coloured. */
  readonly colour: boolean;
}

/** Standard output for results, standard error for the rest, progress and colour on a terminal alone. */
export function terminalScreen(): Screen {
  const isLive = Deno.stderr.isTerminal();
  const clear = () => isLive && Deno.stderr.writeSync(encoder.encode(CLEAR));
  return {
    print(text) {
      clear();
      console.log(text);
    },
    complain(text) {
      clear();
      console.error(text);
    },
    progress: isLive
      ? (line) => void Deno.stderr.writeSync(encoder.encode(CLEAR + line))
      : undefined,
    colour: Deno.stdout.isTerminal() && !Deno.noColor,
  };
}

/** Shows `line()` once a second while `work` lasts, where anybody can see it. */
export async function withProgress<T>(
  screen: Screen,
  line: () => string,
  work: Promise<T>,
): Promise<T> {
  const { progress } = screen;
  if (progress === undefined) return await work;
  const ticker = setInterval(() => progress(line()), 1_000);
  try {
    return await work;
  } finally {
    clearInterval(ticker);
    progress("");
  }
}

/** `text` in a style, where colour is wanted. */
export function styled(
  screen: Screen,
  style: "bold" | "dim" | "green" | "red",
  text: string,
): string {
  // Whether to colour was decided where the terminal is known; node would ask it again.
  return screen.colour ? styleText(style, text, { validateStream: false }) : text;
}
