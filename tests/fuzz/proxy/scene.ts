import type { ProxyRig, RigOptions } from "../../support/proxy_rig.ts";
import type { Draws } from "../draws.ts";
import type { Answers } from "./answers.ts";
import type { Timeline } from "./asked.ts";
import type { Hosts } from "./hosts.ts";
import type { Rules } from "./rules.ts";

/** What all who play in a case share. */
export interface Scene {
  readonly draws: Draws;
  readonly rig: ProxyRig;
  /** What the proxy is taken to have been told. */
  readonly options: RigOptions;
  readonly hosts: Hosts;
  readonly rules: Rules;
  readonly timeline: Timeline;
  readonly answers: Answers;
}
