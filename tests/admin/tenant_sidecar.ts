import { HELLO_PATHS, startHello } from "../../lib/hello/mod.ts";
import { ask, clientOf } from "../support/client.ts";
import { LocalSidecar, type Variables } from "../support/local_sidecar.ts";
import { until } from "../support/waiting.ts";

/** Values that no page may tell. */
export const TENANTS = ["tenant-s3cr3t-one", "tenant-s3cr3t-two"] as const;

/** Answers are numbered, in the field `from`, which may differ; what else differs depends on who asks. */
const POLICIES = [{
  ...{ service: "hello.v1.Hello", method: "GetGreeting" },
  collapser: { ignoreFields: ["2"] },
}];

/**
 * A sidecar that verifies what it shares, in front of a backend whose answers tell the tenant who asks, which the key
 * leaves out: what nobody should configure.
 */
export class TenantSidecar implements AsyncDisposable {
  readonly local: LocalSidecar;
  readonly #client: Awaited<ReturnType<typeof clientOf>>;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    local: LocalSidecar,
    client: Awaited<ReturnType<typeof clientOf>>,
    stack: AsyncDisposableStack,
  ) {
    this.local = local;
    this.#client = client;
    this.#stack = stack;
  }

  static async start(variables: Variables = {}): Promise<TenantSidecar> {
    await using stack = new AsyncDisposableStack();
    const hello = await startHello({ delayMs: 0 });
    stack.defer(() => hello.kill());
    const local = stack.use(
      await LocalSidecar.before(hello, {
        COLLAPSER_MODE: "verify",
        COLLAPSER_CACHE_DURATION: "1m",
        COLLAPSER_IGNORE_HEADERS: "x-tenant",
        ...variables,
      }),
    );
    local.sidecar.proxy.setPolicies(POLICIES);
    const client = stack.use(await clientOf(local.port));
    return new TenantSidecar(local, client, stack.move());
  }

  /** One greeting, for a tenant. */
  async ask(tenant: string): Promise<void> {
    const question = { name: "Ada", echoMetadata: ["x-tenant"] };
    const { status } = await ask(this.#client, HELLO_PATHS.getGreeting, question, [
      ["x-tenant", tenant],
    ]);
    if (status !== 0) throw new Error(`The greeting has status ${status}`);
  }

  /** Has verify take the method out: one tenant is answered with the other's answer. */
  async takeOut(): Promise<void> {
    for (const tenant of TENANTS) await this.ask(tenant);
    const { trial } = this.local.sidecar.proxy;
    await until(() => [...trial.methods.off()].length === 1, "a method that is taken out");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
