import type { Screen } from "../../lib/measure/report/screen.ts";

/** A screen that keeps what was shown. */
export class RecordedScreen implements Screen {
  readonly colour: boolean;
  readonly printed: string[] = [];
  readonly complaints: string[] = [];
  readonly progress: undefined;

  constructor({ colour = false } = {}) {
    this.colour = colour;
  }

  get text(): string {
    return this.printed.join("\n");
  }

  print(text: string): void {
    this.printed.push(text);
  }

  complain(text: string): void {
    this.complaints.push(text);
  }
}
