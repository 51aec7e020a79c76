/**
 * What is known of answers without making a call: whether two of them say the same, and what a difference means.
 *
 * An answer becomes an {@linkcode AnswerPrint} while its messages come by ({@linkcode AnswerDigest}): two digests,
 * whatever its size. {@linkcode likeness} climbs the ladder from equal bytes to equal multisets of fields, and
 * {@linkcode judge} says what a difference means or which control run would tell.
 *
 * A {@linkcode VerifySampler} chooses whose answers are asked for once more, looking where a leak would show, and a
 * {@linkcode VerifyBudget} when: at most one in a hundred of a backend's calls, never while callers wait.
 *
 * A {@linkcode ReportRecord} remembers for 48 hours what sharing saves or would save, method by method, and
 * {@linkcode reportRow} says what to do with a method.
 *
 * Invariants:
 * - protobuf is not canonical: maps and fields may come in any order, so bytes that differ may say the same;
 * - what cannot be read, or asks for too much, is compared by its bytes: stricter than need be, never laxer;
 * - a difference alone is no `mismatch`: that takes the leader's answer to repeat and the follower's to repeat;
 * - work and memory are bounded in bytes, depth and fields; no message and no metadata value is kept.
 *
 * Synchronous and pure: time, hashes and the calls of control runs are somebody else's.
 *
 * @module
 */
export {
  AnswerDigest,
  type AnswerPrint,
  type Hash,
  type Likeness,
  likeness,
  type PrintOptions,
} from "./answer_print.ts";
export {
  type CompiledIgnore,
  compileIgnoredFields,
  type DescribedField,
  type IgnoredFields,
  type MessageNames,
} from "./ignored_fields.ts";
export { KeySketch } from "./key_sketch.ts";
export {
  FIELD_WORK,
  type FieldOrder,
  NORMAL_FORM_LIMITS,
  normalForm,
  type NormalFormLimits,
} from "./normal_form.ts";
export {
  type Control,
  type Evidence,
  judge,
  judgeWithoutControl,
  type Verdict,
} from "./verdict.ts";
export {
  type CallSums,
  type Compared,
  MethodRecord,
  type MethodSummary,
  REPORT_HOURS,
  ReportRecord,
} from "./report_record.ts";
export { type MethodSetting, type ReportRow, reportRow } from "./report_row.ts";
export { type RunRequest, type SkipReason, VerifyBudget } from "./verify_budget.ts";
export { differingNames, type Metadata, VerifySampler } from "./verify_sampler.ts";
