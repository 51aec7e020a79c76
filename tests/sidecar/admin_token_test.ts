import { assertEquals, assertThrows } from "@std/assert";
import { openAdminToken } from "../../lib/sidecar/admin_token.ts";
import { BadConfiguration } from "../../lib/sidecar/bad_configuration.ts";
import { Timers } from "../../lib/transport/mod.ts";
import { LocalSidecar, settingsOf } from "../support/local_sidecar.ts";
import { GatedBackend } from "../support/gated_backend.ts";
import { createLogger } from "../../lib/telemetry/mod.ts";
import { until } from "../support/waiting.ts";

const FIRST = "the-first-token-of-all";
const SECOND = "the-second-one-comes-later";

Deno.test("ADMIN_TOKEN_FILE is read at the start, and again when it changes", async () => {
  const path = Deno.makeTempFileSync();
  Deno.writeTextFileSync(path, `${FIRST}\n`);
  await using backend = new GatedBackend({ open: true });
  await using local = await LocalSidecar.before(backend, { ADMIN_TOKEN_FILE: path });
  const purge = async (token: string) => {
    const answer = await fetch(`http://127.0.0.1:${local.sidecar.adminPort}/api/purge`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals([await purge(FIRST), await purge(SECOND)], [200, 401]);
  Deno.writeTextFileSync(path, "short");
  await until(() => local.log.some((line) => line.includes("not taken")), "the refusal");
  assertEquals(await purge(FIRST), 200);
  Deno.writeTextFileSync(path, SECOND);
  await until(() => local.log.some((line) => line.includes("Admin token taken")), "the new one");
  assertEquals([await purge(FIRST), await purge(SECOND)], [401, 200]);
  const said = local.log.join("\n");
  for (const secret of [FIRST, SECOND, "short"]) assertEquals(said.includes(secret), false);
  Deno.removeSync(path);
});

Deno.test("ADMIN_TOKEN_FILE that cannot be used is named before anything is opened, without what is in it", () => {
  const path = Deno.makeTempFileSync();
  const timers = new Timers();
  const log = createLogger({ level: "error", format: "json", write() {} });
  const open = (adminTokenPath: string) => () =>
    openAdminToken({
      ...settingsOf({ BACKEND_ADDRESS: "127.0.0.1:1" }),
      adminTokenPath,
    }, { timers, log });
  Deno.writeTextFileSync(path, "hunter2");
  const { problems } = assertThrows(open(path), BadConfiguration);
  assertEquals(problems.length, 1);
  assertEquals(
    problems[0],
    `Cannot use ADMIN_TOKEN_FILE "${path}": ` +
      "expected 16 characters or more, such as openssl rand -hex 16 gives",
  );
  Deno.removeSync(path);
  assertThrows(open(path), BadConfiguration);
  timers.stop();
});
