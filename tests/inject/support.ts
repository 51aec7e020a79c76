import { inject, type InjectOptions } from "../../lib/inject/mod.ts";

const GOLDEN = new URL("golden/", import.meta.url);

/** As `collapser inject --service` has it. */
export const OPTIONS: InjectOptions = {
  image: "ghcr.io/collapser/collapser:0.0.0-test",
  services: "name",
};

/** The manifests that stand for users' own. */
export async function goldenNames(): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name, isFile } of Deno.readDir(GOLDEN)) if (isFile) names.push(name);
  return names.sort();
}

/** A file below `golden/`. */
export async function goldenText(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, GOLDEN));
}

/** What comes of a text that has no fault. */
export function injected(
  text: string,
  options: InjectOptions = OPTIONS,
): { text: string; notes: readonly string[] } {
  const done = inject(text, options);
  if ("problems" in done) throw new Error(done.problems.join("\n"));
  return done;
}

/** What is said of a text that has a fault. */
export function problemsOf(text: string, options: InjectOptions = OPTIONS): readonly string[] {
  const done = inject(text, options);
  return "problems" in done ? done.problems : [];
}

/** A Deployment that asks for a sidecar, with annotations and fields of its pod. */
export function deployment(
  annotations: Readonly<Record<string, unknown>> = {},
  { labels = {}, spec = {} }: {
    labels?: Readonly<Record<string, unknown>>;
    spec?: Readonly<Record<string, unknown>>;
  } = {},
): string {
  return JSON.stringify({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "items" },
    spec: {
      selector: { matchLabels: { app: "items" } },
      template: {
        metadata: {
          labels: { app: "items", "collapser.dev/inject": "true", ...labels },
          annotations,
        },
        spec: {
          containers: [{
            name: "server",
            image: "items:1",
            ports: [{ name: "grpc", containerPort: 50_051 }, { name: "web", containerPort: 8_080 }],
          }],
          ...spec,
        },
      },
    },
  });
}
