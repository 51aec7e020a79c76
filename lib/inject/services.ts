import { columnOf, type Edit, eolOf } from "./insertion.ts";
import type { Manifest } from "./manifests.ts";
import { at, fieldsAt, listAt, textAt } from "./values.ts";
import { isMap, isScalar, isSeq, pairOf, type Placed, type YAMLMap } from "./yaml.ts";

/** A pod with a sidecar, as far as a Service can lead to it. */
export interface Target {
  readonly namespace: string | undefined;
  readonly labels: ReadonlyMap<string, unknown>;
  /** Numbers and names by which a Service would lead past the sidecar. */
  readonly past: ReadonlySet<string | number>;
  /** The name or number by which it leads to the sidecar. */
  readonly to: string | number;
}

/** The changes that lead a Service's ports to the sidecars behind it; none when it leads to no such pod. */
export function pointService(text: string, service: Manifest, targets: readonly Target[]): Edit[] {
  if (service.kind !== "Service" || textAt(service.value, "apiVersion") !== "v1") return [];
  const selector = fieldsAt(service.value, "spec", "selector");
  if (selector.size === 0) return [];
  const selected = targets.filter(({ namespace, labels }) =>
    namespace === service.namespace &&
    [...selector].every(([name, value]) => labels.get(name) === value)
  );
  const ports = portNodes(service);
  return listAt(service.value, "spec", "ports").flatMap((port, index) => {
    if ((at(port, "protocol") ?? "TCP") !== "TCP") return [];
    const leadsTo = at(port, "targetPort") ?? at(port, "port");
    const target = selected.find(({ past }) => past.has(leadsTo as string | number));
    const node = ports[index];
    return target === undefined || node === undefined ? [] : pointPort(text, node, target.to);
  });
}

/** The nodes of a Service's ports, where they are written out. */
function portNodes({ node }: Manifest): readonly (YAMLMap | undefined)[] {
  const spec = pairOf(node, "spec")?.value;
  const ports = isMap(spec) ? pairOf(spec, "ports")?.value : undefined;
  return isSeq(ports) ? ports.items.map((item) => isMap(item) ? item : undefined) : [];
}

function pointPort(text: string, port: YAMLMap, to: string | number): Edit[] {
  const target = pairOf(port, "targetPort")?.value;
  if (isScalar(target) && target.range) {
    const [from, end] = target.range;
    const isQuoted = text[from] === '"'; // as in JSON
    return [{ from, to: end, text: isQuoted ? JSON.stringify(to) : bare(port, to) }];
  }
  const pair = pairOf(port, "port");
  if (target !== undefined || pair === undefined || !isScalar(pair.value)) return [];
  const [, end] = pair.value.range!;
  if (port.flow === true) {
    return [{ from: end, to: end, text: `, "targetPort": ${bare(port, to)}` }];
  }
  return [lineAfter(text, pair.key, end, `targetPort: ${bare(port, to)}`)];
}

/** A line behind that of an offset, indented as a key is. */
function lineAfter(text: string, key: Placed, offset: number, line: string): Edit {
  const next = text.indexOf("\n", offset);
  const margin = " ".repeat(columnOf(text, key.range[0]));
  if (next >= 0) return { from: next + 1, to: next + 1, text: margin + line + eolOf(text) };
  return { from: text.length, to: text.length, text: `${eolOf(text)}${margin}${line}` };
}

function bare(port: YAMLMap, to: string | number): string {
  return port.flow === true ? JSON.stringify(to) : String(to);
}
