/**
 * One workload, written in every way that people and programs write them: what is injected, read again, is the same
 * object with the sidecar in it.
 *
 * @module
 */

import { assert, assertEquals, assertGreater } from "@std/assert";
import { blockText, readStream } from "../../lib/inject/yaml.ts";
import { CONTAINER_NAME } from "../../lib/inject/names.ts";
import { rng } from "../support/cuts.ts";
import { deployment, injected } from "./support.ts";

/** What is read again, whatever it looks like. */
// deno-lint-ignore no-explicit-any
type Json = any;

const COMMENTS_A_STYLE = 20;

const PLAIN: Json = JSON.parse(deployment());
const BUSY: Json = JSON.parse(deployment({ "collapser.dev/backend-port": "grpc" }, {
  spec: {
    initContainers: [{ name: "first", image: "a:1" }, { name: "second", image: "b:1" }],
    serviceAccountName: "yes", // which YAML 1.1 would take for true
    containers: [{
      name: "server",
      image: "a:1",
      command: ["sh", "-c", "# no comment\ntrue\n"],
      ports: [{ name: "grpc", containerPort: 50_051 }],
    }],
  },
}));

/** Texts of an object, by how they are written. */
function* styles(object: Json): Generator<[name: string, text: string]> {
  for (const step of [2, 3, 4, 8]) {
    for (const indentsLists of [true, false]) {
      yield [`block, ${step}, ${indentsLists}`, blockText(object, { step, indentsLists })];
    }
  }
  for (const indent of [0, 1, 2, 4, "\t"]) {
    yield [`JSON, ${JSON.stringify(indent)}`, JSON.stringify(object, null, indent)];
  }
  // Flow within block: the pod's spec, and its template, on one line.
  for (const path of [["spec", "template", "spec"], ["spec", "template"]]) {
    const outer = structuredClone(object);
    let parent = outer;
    for (const name of path.slice(0, -1)) parent = parent[name];
    const inner = JSON.stringify(parent[path.at(-1)!]);
    parent[path.at(-1)!] = "INNER";
    const text = blockText(outer, { step: 2, indentsLists: false });
    yield [`${path.join(".")} in flow`, text.replace("INNER", () => inner)];
  }
}

for (const [name, object] of [["a workload", PLAIN], ["one with init containers", BUSY]] as const) {
  Deno.test(`inject puts the sidecar into ${name}, however it is written`, () => {
    let tried = 0;
    for (const [style, text] of styles(object)) {
      for (
        const written of [text, text.replaceAll("\n", "\r\n"), `# x\n---\n${text}\n---\nb: 1\n`]
      ) {
        expectsInjected(written, object, style);
        tried++;
      }
    }
    assertGreater(tried, 40);
  });

  Deno.test(`inject puts the sidecar into ${name}, wherever comments stand`, () => {
    const random = rng(7);
    for (const [style, text] of styles(object)) {
      if (!style.startsWith("block")) continue;
      for (let n = 0; n < COMMENTS_A_STYLE; n++) {
        const lines = text.split("\n");
        const inBlockScalar = (at: number) => /no comment|^\s*true$/.test(lines[at] ?? "");
        for (let comments = 0; comments < 4; comments++) {
          const at = Math.floor(random() * lines.length);
          if (inBlockScalar(at) || inBlockScalar(at - 1)) continue;
          const margin = /^ */.exec(lines[at] ?? "")![0];
          lines.splice(at, 0, random() < 0.3 ? "" : `${margin}# a comment: {`);
        }
        expectsInjected(lines.join("\n"), object, `${style}, comments ${n}`);
      }
    }
  });
}

function expectsInjected(text: string, object: Json, style: string): void {
  const { text: after } = injected(text);
  const found = objectsOf(after).find(({ kind }) => kind === object.kind);
  assert(found !== undefined, style);
  const { initContainers, ...spec } = found.spec.template.spec;
  assertEquals(initContainers[0].name, CONTAINER_NAME, `${style}\n${after}`);
  const { initContainers: before = [], ...own } = objectsOf(text)
    .find(({ kind }) => kind === object.kind).spec.template.spec;
  assertEquals([initContainers.slice(1), spec], [before, own], style);
  assertEquals(spec.containers, object.spec.template.spec.containers, style);
  assertEquals(injected(after).text, after, style);
}

function objectsOf(text: string): Json[] {
  const stream = readStream(text);
  if ("problems" in stream) throw new Error(`${stream.problems.join("\n")}\n${text}`);
  return stream.documents.map(({ value }) => value).filter((value) => value !== null);
}
