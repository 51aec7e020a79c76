/**
 * The words by which a method's name says what it does, found by a trial on 22,701 methods of 93 public repositories. Each
 * list says what its words cost: a word too few shares what is not to be shared, one too many misses a saving.
 *
 * @module
 */

/** Verbs that a method which only reads begins with, as whole CamelCase words. */
export const READING_VERBS = words(
  "Get BatchGet List BatchList AggregatedList Search BatchSearch Read Lookup Find Query BatchQuery Describe BatchDescribe " +
    "Count Has Is Exists Inspect Stat Enumerate Show Aggregate Calculate Geocode Autocomplete Summarize",
);

/** First words that are a verb only together with the second one. */
export const HALF_VERBS = words("Batch Aggregated");

/** Words that hint at more than reading, or at an answer meant for one caller. */
export const OTHER_WORDS = words(
  "And Or Then Next New Create Insert Add Append Update Updates Upsert Set Put Write Modify Mutate Patch Delete Remove " +
    "Reset Increment Pop Take Claim Lease Lock Unlock Acquire Reserve Consume Ack Send Start Begin Register Generate " +
    "Nonce Nonces Random Token Ticket Session Secret Code Otp Otps Challenge Challenges Captcha Upload Watch Subscribe " +
    "Follow Tail Listen Poll Receive Dequeue Drain Redeem Mint Allocate Assign Renew Rotate Revoke Ensure Make Execute " +
    "Invoke Notify Publish Confirm Approve Accept Cancel Enable Disable Apply Submit Pay Charge Refund Deposit Vote Mark " +
    "Clear Purge Restart Kill Save Dispatch Timestamp Ts Uuid Uid Guid Snowflake Keypair Mnemonic Salt Shuffle Use Tso Work Mempool " +
    "Spending",
);

/** Words of methods that stream what goes on, so that their answers have no end. */
export const STREAM_WORDS = words("Stream Events Flows Log Logs Audio Profile Incoming");

/** Whole names that read and are not: each call has another answer, or takes what it answers. */
export const OTHER_NAMES = words(
  "GetId GetIds BatchGetIds FindMatch ReadMessages ReadAll ReadIndex GetReplicationMessages " +
    "GetNamespaceReplicationMessages GetDomainReplicationMessages",
);

/** First words of methods that ask how something is: they do not read what may be shared, and write nothing either. */
export const ASKING_VERBS = words("Check Test Ping Probe Status Version Health");

/** Words that make more than a question of {@linkcode ASKING_VERBS}: CheckIn, CheckOut, CheckTx. */
export const NO_QUESTIONS = words("In Out Tx");

/**
 * Public methods that read by name and are not to be shared: queries that may write (Dgraph, BigQuery), reads within a
 * transaction (Firestore, Datastore, Spanner), and answers that go on for ever (linkerd, CRI, Hubble, EventStore).
 */
export const OTHER_METHODS: ReadonlySet<string> = new Set([
  "/api.Dgraph/Query",
  "/google.cloud.bigquery.v2.JobService/Query",
  "/google.firestore.v1.Firestore/BatchGetDocuments",
  "/google.firestore.v1beta1.Firestore/BatchGetDocuments",
  "/google.datastore.v1.Datastore/Lookup",
  "/google.spanner.v1.Spanner/Read",
  "/io.linkerd.proxy.destination.Destination/Get",
  "/io.linkerd.proxy.destination.Destination/GetProfile",
  "/runtime.v1.RuntimeService/GetContainerEvents",
  "/observer.Observer/GetFlows",
  "/observer.Observer/GetAgentEvents",
  "/observer.Observer/GetDebugEvents",
  "/event_store.client.streams.Streams/Read",
]);

/** The words of a CamelCase name, in lower case; a run of capitals is one word, and digits are none. */
export function splitWords(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase());
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().split(" "));
}
