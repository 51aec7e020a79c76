import { oneOf } from "../../config/mod.ts";
import { BOOLEAN, type Kind, optional, type Parsed } from "../../config/mod.ts";
import type { Command } from "../command.ts";
import { defineCommand } from "../define_command.ts";
import { repeated, single } from "../flag_table.ts";

/** A file to read; `-` is standard input. */
const INPUT: Kind<string> = {
  placeholder: "FILE",
  parse: (text) =>
    text === "" ? { why: "expected a path, or - for standard input" } : { value: text },
  show: (path) => path,
};

/** An image with its tag or digest, as a container names it. */
const IMAGE: Kind<string> = {
  placeholder: "IMAGE",
  parse(text): Parsed<string> {
    const isOne = /^[a-z0-9][\w./-]*(:\d+\/[\w./-]+)?(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/.test(
      text,
    );
    return isOne
      ? { value: text }
      : { why: "expected an image such as registry.example/collapser:0.1.0" };
  },
  show: (image) => image,
};

const INJECT_FLAGS = defineCommand({
  name: "inject",
  summary: "write the sidecar into Kubernetes manifests",
  about:
    "Reads manifests, YAML or JSON, and writes them with a sidecar in each pod template that has " +
    'the label collapser.dev/inject: "true"; everything else passes as it is, to the byte. A pod ' +
    "with a container called collapser is left alone, so injecting twice is injecting once. When " +
    "anything is wrong, nothing is written: every problem is said, and the exit code is 64.",
  examples: [
    "collapser inject < deployment.yaml | kubectl apply -f -",
    "kubectl get deployment/items -o yaml | collapser inject | kubectl apply -f -",
  ],
  flags: {
    file: repeated(INPUT, { help: "what to read, also as -f; - is standard input, the default" }),
    image: single(optional(IMAGE), { help: "the sidecar's image (that of this version)" }),
    service: single(BOOLEAN, {
      fallback: "false",
      help: "lead the Services of the input to the sidecars too, once every pod has one",
    }),
    target: single(oneOf(["name", "number"]), {
      fallback: "name",
      help: "what a Service leads to: the port's name (Kubernetes 1.33 and later) or its number",
    }),
  },
  chapters: [{
    heading: "Annotations of the pod template",
    paragraphs: [
      "collapser.dev/backend-port: where the pod's service listens, a port or the name of a " +
      "container's; unset, the port whose name has grpc in it, or the only one.",
      "collapser.dev/port: where the sidecar does (50052).",
      "collapser.dev/option.NAME: any option, such as option.cache-duration for " +
      "COLLAPSER_CACHE_DURATION or option.backend-timeout; `collapser --help` lists them.",
    ],
  }],
  async run({ file, image, service, target }, world) {
    return await world.runners.inject({
      files: file.length > 0 ? file : ["-"],
      image,
      services: service && target,
    });
  },
});

/** `-f` is how kubectl calls it. */
export const INJECT: Command = {
  ...INJECT_FLAGS,
  run: (args, world) => INJECT_FLAGS.run(args.map((arg) => arg === "-f" ? "--file" : arg), world),
};
