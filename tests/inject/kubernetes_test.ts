/**
 * What Kubernetes' own types say of injected manifests: decoded strictly, each field must exist and be of its type.
 * Skipped, with the reason in a test's name, where Go or its modules cannot be had.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { type Json, readManifests, whyNoGo } from "../manifests/go_program.ts";
import { goldenNames, goldenText, injected } from "./support.ts";

const reason = await whyNoGo();
const skipped = reason === "" ? "" : ` (skipped: ${reason})`;

Deno.test({
  name: `inject writes what Kubernetes' own types take${skipped}`,
  ignore: reason !== "",
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "collapser-test-" });
    try {
      for (const name of await goldenNames()) {
        const { text } = injected(await goldenText(name));
        await Deno.writeTextFile(`${folder}/${name}.yaml`, text); // JSON is YAML too
      }
      const { files, problems } = await readManifests(folder);
      assertEquals(problems, []);
      const sidecars = JSON.stringify(files).match(/"restartPolicy":"Always"/g);
      assertEquals(sidecars?.length, 8, "each workload that asks for one");
      const [item] = (files["list.json.yaml"]?.[0] as Json).items;
      assertEquals(item.spec.template.spec.initContainers[0].name, "collapser");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
