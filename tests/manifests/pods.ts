/**
 * What the tests ask of pods, whichever kind of object they come from.
 *
 * @module
 */

import type { Json, Reading } from "./go_program.ts";

/** A pod with the names for its messages. */
export interface Pod {
  /** `folder: Kind name`. */
  readonly where: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: Json;
  readonly containers: readonly Json[];
  /** Everything that is built along with it. */
  readonly beside: readonly Json[];
}

/** The pods of all builds, or of one. */
export function podsOf(reading: Reading, folder?: string): Pod[] {
  return Object.entries(reading.builds)
    .filter(([name]) => folder === undefined || name === folder)
    .flatMap(([name, objects]) =>
      objects.filter(({ spec }) => spec?.template?.spec !== undefined).map((object) => {
        const { metadata, spec } = object.spec.template;
        return {
          where: `${name}: ${object.kind} ${object.metadata.name}`,
          labels: metadata.labels,
          spec,
          containers: [...(spec.initContainers ?? []), ...spec.containers],
          beside: objects,
        };
      })
    );
}

/** The pods that have collapser among their containers, with it. */
export function plainOf(reading: Reading): { pod: Pod; collapser: Json }[] {
  return podsOf(reading).flatMap((pod) => {
    const collapser = pod.spec.containers.find(isCollapser);
    return collapser === undefined ? [] : [{ pod, collapser }];
  });
}

/** The pods that have a sidecar, with it. */
export function sidecarsOf(reading: Reading): { pod: Pod; sidecar: Json }[] {
  return podsOf(reading).flatMap((pod) => {
    const sidecar = (pod.spec.initContainers ?? []).find(isCollapser);
    return sidecar === undefined ? [] : [{ pod, sidecar }];
  });
}

/** Every container of every pod, with a name for messages. */
export function containersOf(reading: Reading): { pod: Pod; container: Json; where: string }[] {
  return podsOf(reading).flatMap((pod) =>
    pod.containers.map((container) => ({ pod, container, where: `${pod.where} ${container.name}` }))
  );
}

/** Containers whose images this repository builds. */
export function isOurs({ image }: Json): boolean {
  return /^(ghcr\.io\/collapser\/)?collapser(-backend)?:/.test(image);
}

/** The value of a container's variable; undefined when it has none of that name. */
export function variableOf(container: Json, name: string): string | undefined {
  return container.env?.find((variable: Json) => variable.name === name)?.value;
}

function isCollapser({ name }: Json): boolean {
  return name === "collapser";
}
