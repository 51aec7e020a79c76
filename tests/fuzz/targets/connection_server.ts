import { converse } from "../connection/converse.ts";
import type { Target } from "../run.ts";

export const connectionServer: Target = {
  name: "connection-server",
  about: "a connection as a server against a model of RFC 9113, its peer legal or not",
  weight: 5,
  run: (draws) => void converse("server", draws),
};
