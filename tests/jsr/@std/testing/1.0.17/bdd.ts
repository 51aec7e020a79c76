/**
 * Stands in for `jsr:@std/testing/bdd` on machines that cannot reach JSR.
 *
 * @module
 */
export { after as afterAll, afterEach, before as beforeAll, beforeEach, describe, it } from "node:test";
