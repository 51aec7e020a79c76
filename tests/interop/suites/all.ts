import { ENVOY } from "./envoy_front.ts";
import { GO } from "./go.ts";
import { GRPCURL } from "./grpcurl.ts";
import { H2SPEC } from "./h2spec.ts";
import { HEALTH_PROBE } from "./health_probe.ts";
import { JAVA } from "./java.ts";
import { NODE } from "./node.ts";
import { PYTHON } from "./python.ts";
import type { Suite } from "./suite.ts";

/** Every suite, in the order in which they are run. */
export const SUITES: readonly Suite[] = [
  GO,
  H2SPEC,
  GRPCURL,
  HEALTH_PROBE,
  NODE,
  PYTHON,
  JAVA,
  ENVOY,
];
