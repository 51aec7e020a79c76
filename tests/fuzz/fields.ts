import type { Draws } from "./draws.ts";
import type { ModelField } from "./models/hpack.ts";

const NAMES = [
  "x-a",
  ":status",
  ":path",
  ":method",
  ":authority",
  "content-type",
  "content-length",
  "grpc-timeout",
  "te",
  "x-request-id",
  "authorization",
  "user-agent",
  "x-blob-bin",
  "",
  "Upper",
  "connection",
  ":odd",
];

const VALUES = ["", "a", "200", "GET", "/", "trailers", "application/grpc", "1S", "é\u00ff", "\n"];

/** Few names and values, so that they meet again, and now and then something new or long. */
export function randomFields(draws: Draws, most = 8): ModelField[] {
  return Array.from({ length: draws.below(most + 1) }, () => ({
    name: draws.chance(0.1) ? `x-${draws.below(1_000)}` : draws.pick(NAMES),
    value: randomValue(draws),
    sensitive: draws.chance(0.1),
  }));
}

function randomValue(draws: Draws): string {
  if (draws.chance(0.6)) return draws.pick(VALUES);
  if (draws.chance(0.7)) return `v${draws.below(30)}`;
  return String.fromCharCode(draws.between(1, 255)).repeat(draws.small(5_000));
}
