import type { Routing } from "../../balance/mod.ts";
import { isHeaderName } from "./header_names.ts";
import type { Kind, Parsed } from "./kind.ts";

const WORDS = ["key", "round-robin", "least-loaded"] as const;

export const ROUTING: Kind<Routing> = {
  placeholder: "ROUTING",
  parse(text): Parsed<Routing> {
    const lower = text.toLowerCase();
    const by = WORDS.find((word) => word === lower);
    if (by !== undefined) return { value: { by } };
    const name = /^header:\s*(.+)$/.exec(lower)?.[1] ?? "";
    return isHeaderName(name)
      ? { value: { by: "header", name } }
      : { why: "expected key, header:NAME, round-robin or least-loaded" };
  },
  show: (routing) => routing.by === "header" ? `header:${routing.name}` : routing.by,
};
