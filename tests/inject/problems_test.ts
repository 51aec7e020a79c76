import { assertEquals, assertMatch } from "@std/assert";
import { deployment, injected, OPTIONS, problemsOf } from "./support.ts";

/** Annotations that ask for what cannot be, and what is said of each. */
const BAD_ANNOTATIONS: readonly [name: string, value: unknown, said: RegExp][] = [
  ["option.cache-duration", "5", /Cannot parse COLLAPSER_CACHE_DURATION "5": expected/],
  [
    "option.cash-duration",
    "5s",
    /nobody knows .*cash-duration; the nearest is .*option\.cache-duration/,
  ],
  ["option.backend-address", "a:1", /cannot be set: collapser\.dev\/backend-port says/],
  ["option.grpc-port", "1", /cannot be set: collapser\.dev\/port says/],
  ["option.metrics-host", "127.0.0.1", /cannot be set: the kubelet's probes/],
  ["option.admin-token", "0123456789abcdef", /a secret has no place in an annotation/],
  ["option.metrics-port", "0", /known beforehand/],
  [
    "option.metrics-port",
    "50051",
    /port 50051 is container server's already: .*option\.metrics-port/,
  ],
  [
    "port",
    "8080",
    /port 8080 is container server's already: set the annotation collapser\.dev\/port/,
  ],
  ["port", "50051", /backend-port and collapser\.dev\/port are both 50051/],
  ["port", "0", /expected collapser\.dev\/port to be a port from 1 to 65535/],
  ["port", 7000, /to be text: put 7000 in quotes/],
  ["backend-port", "http", /expected collapser\.dev\/backend-port to be a port, or the name/],
  ["backend-port", "50052", /backend-port and collapser\.dev\/port are both 50052/],
  [
    "backendport",
    "1",
    /nobody knows collapser\.dev\/backendport; the nearest is collapser\.dev\/backend-port/,
  ],
];

for (const [name, value, said] of BAD_ANNOTATIONS) {
  Deno.test(`inject refuses the annotation ${name}: ${value}`, () => {
    const problems = problemsOf(deployment({ [`collapser.dev/${name}`]: value }));
    assertEquals(problems.length, 1, problems.join("\n"));
    assertMatch(problems[0]!, said);
    assertMatch(problems[0]!, /^Cannot inject into Deployment items \(line 1\): /);
  });
}

Deno.test("inject takes each name of an option, short, whole, and of the backend's", () => {
  const { text } = injected(deployment({
    "collapser.dev/option.cache-duration": "1s",
    "collapser.dev/option.collapser-stale-duration": "2s",
    "collapser.dev/option.backend-timeout": "3s",
    "collapser.dev/option.metrics-port": "9",
    "other.example/option": "kept",
  }));
  for (
    const [name, value] of [
      ["COLLAPSER_CACHE_DURATION", "1s"],
      ["COLLAPSER_STALE_DURATION", "2s"],
      ["BACKEND_TIMEOUT", "3s"],
      ["METRICS_PORT", "9"],
    ]
  ) assertMatch(text, new RegExp(`\\{"name":"${name}","value":"${value}"\\}`));
  assertMatch(text, /"name":"collapser-http","containerPort":9\}/);
});

Deno.test("inject finds the backend's port by annotation, by a port's name, or as the only one", () => {
  const withPorts = (...ports: unknown[]) => ({
    spec: { containers: [{ name: "server", image: "a:1", ports }] },
  });
  const [grpc, http] = [{ name: "my-grpc", containerPort: 7 }, { name: "web", containerPort: 8 }];
  for (
    const [annotation, ports, wanted] of [
      [undefined, [grpc, http], 7],
      [undefined, [http], 8],
      ["web", [grpc, http], 8],
      ["9", [grpc, http], 9],
      ["9", [], 9],
    ] as const
  ) {
    const annotations = annotation === undefined
      ? {}
      : { "collapser.dev/backend-port": annotation };
    const { text } = injected(deployment(annotations, withPorts(...ports)));
    assertMatch(text, new RegExp(`"BACKEND_ADDRESS","value":"127\\.0\\.0\\.1:${wanted}"`));
  }
  for (const ports of [[], [http, { ...http, name: "b", containerPort: 9 }]]) {
    assertMatch(problemsOf(deployment({}, withPorts(...ports)))[0]!, /cannot tell which port/);
  }
});

Deno.test("inject wants the label in quotes, as Kubernetes does", () => {
  for (const label of [true, "yes", 1]) {
    const problems = problemsOf(deployment({}, { labels: { "collapser.dev/inject": label } }));
    assertMatch(problems[0] ?? "", /"true" or "false", in quotes, and not/);
  }
});

Deno.test("inject gives every problem of a stream at once, and no text", () => {
  const bad = deployment({ "collapser.dev/port": "x", "collapser.dev/option.nothing": "1" });
  const problems = problemsOf(`${bad}\n---\n${deployment()}\n---\n${bad}\n`);
  assertEquals(problems.length, 4, problems.join("\n"));
  assertEquals(problems.filter((line) => line.includes("(line 5)")).length, 2);
});

Deno.test("inject names the line of what is no YAML", () => {
  assertMatch(problemsOf("a: 1\nb: [\nc: 2\n")[0]!, /^Cannot read line \d: /);
  assertMatch(problemsOf("a: 1\na: 2\n")[0]!, /^Cannot read line \d: Map keys must be unique/);
});

Deno.test("inject refuses documents whose aliases would fill the memory", () => {
  let text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (let i = 1; i < 9; i++) {
    text += `a${i}: &a${i} [${Array(9).fill(`*a${i - 1}`).join(", ")}]\n`;
  }
  assertMatch(problemsOf(text)[0]!, /^Cannot read the document at line 1: /);
});

Deno.test("inject refuses a pod whose containers are written somewhere else", () => {
  const shared = `x: &pod
  containers: [{name: a, image: "a:1", ports: [{containerPort: 1}]}]
apiVersion: apps/v1
kind: Deployment
metadata: {name: items}
spec:
  template:
    metadata: {labels: {collapser.dev/inject: "true"}}
    spec:
`;
  for (const spec of ["      <<: *pod\n", "      *pod\n"]) {
    assertMatch(problemsOf(shared + spec)[0]!, /Deployment items .*an alias or a merge key/);
  }
});

Deno.test("inject leads Services to the port's number where names are not found yet", () => {
  const service = JSON.stringify({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "items" },
    spec: { selector: { app: "items" }, ports: [{ port: 1, targetPort: "grpc" }] },
  });
  const stream = `${deployment()}\n---\n${service}`;
  const { text } = injected(stream, { ...OPTIONS, services: "number" });
  assertMatch(text, /"targetPort":50052/);
  // Two steps, as a rollout wants them: the sidecars first, and the Services once every pod has one.
  const first = injected(stream, { ...OPTIONS, services: false }).text;
  assertMatch(first, /"targetPort":"grpc"/);
  assertEquals(injected(first, { ...OPTIONS, services: "number" }).text, text);
});
