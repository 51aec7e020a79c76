import { converse } from "../connection/converse.ts";
import type { Target } from "../run.ts";

export const connectionClient: Target = {
  name: "connection-client",
  about: "a connection as a client against a model of RFC 9113, its peer legal or not",
  weight: 5,
  run: (draws) => void converse("client", draws),
};
