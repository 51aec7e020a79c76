import { CallLedger } from "./call_ledger.ts";
import { type sendUnaryData, Server, ServerCredentials } from "./grpc.ts";
import { Health } from "./health.ts";
import healthText from "./health.proto" with { type: "text" };
import type { HelloBackend, HelloOptions } from "./hello_backend.ts";
import helloText from "./hello.proto" with { type: "text" };
import { helloHandlers } from "./hello_service.ts";
import { readProto } from "./proto_file.ts";
import { reflectionHandlers } from "./reflection.ts";
import reflectionText from "./reflection.proto" with { type: "text" };

/** Longest that `stop` waits for calls under way: well over any delay one would set, under a supervisor's 10 s. */
const STOP_GRACE_MS = 5_000;

/** 10,000 callers may come on one connection; grpc-js itself sets no limit either, this only says so on the wire. */
const MAX_STREAMS_PER_CONNECTION = 2 ** 31 - 1;

const SERVER_OPTIONS = {
  "grpc.max_concurrent_streams": MAX_STREAMS_PER_CONNECTION,
  // A backend for tests answers whatever the sidecar lets through; the sidecar's limits are what is tested.
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
};

/** `startHello` without the wait for the libraries; see there. */
export async function startServer(options: HelloOptions): Promise<HelloBackend> {
  const { host = "127.0.0.1", port: wantedPort = 0, delayMs = 0 } = options;
  const ledger = new CallLedger();
  const health = new Health(["", "hello.v1.Hello"]);
  const server = new Server(SERVER_OPTIONS);
  addServices(server, { ledger, health, delayMs });
  const port = await listen(server, hostPort(host, wantedPort));
  return {
    port,
    address: hostPort(host, port),
    get total() {
      return ledger.report().total;
    },
    counts: () => ledger.report().calls,
    report: () => ledger.report(),
    setServing: (serving) => health.setServing(serving),
    stop: () => {
      health.close();
      return shutDown(server);
    },
    kill: () => server.forceShutdown(),
  };
}

function addServices(
  server: Server,
  parts: { ledger: CallLedger; health: Health; delayMs: number },
): void {
  const { ledger, health, delayMs } = parts;
  const hello = readProto(helloText, "hello/v1/hello.proto");
  const healthFile = readProto(healthText, "grpc/health/v1/health.proto");
  const v1 = readProto(reflectionText, "grpc/reflection/v1/reflection.proto");
  const v1alpha = readProto(
    reflectionText.replace("package grpc.reflection.v1;", "package grpc.reflection.v1alpha;"),
    "grpc/reflection/v1alpha/reflection.proto",
  );
  const greeter = hello.service("hello.v1.Hello");
  server.addService(greeter, helloHandlers(greeter, { ledger, delayMs }));
  server.addService(hello.service("hello.v1.Stats"), {
    ReportCounts: (_call: unknown, reply: sendUnaryData<unknown>) => reply(null, ledger.report()),
  });
  server.addService(healthFile.service("grpc.health.v1.Health"), health.handlers());
  const reflection = reflectionHandlers([hello, healthFile, v1, v1alpha]);
  server.addService(v1.service("grpc.reflection.v1.ServerReflection"), reflection);
  server.addService(v1alpha.service("grpc.reflection.v1alpha.ServerReflection"), reflection);
}

function listen(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(new Error(`Cannot listen on ${address}: ${error.message}`));
    });
  });
}

/** Lets calls under way finish, within bounds. */
function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.forceShutdown(), STOP_GRACE_MS);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function hostPort(host: string, port: number): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]:${port}` : `${host}:${port}`;
}
