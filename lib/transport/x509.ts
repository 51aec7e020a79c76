import { type BaseBlock, Constructed, fromBER } from "asn1js";
import { Buffer } from "node:buffer";

/** Object identifier 2.5.29.17, subjectAltName (RFC 5280 §4.2.1.6), with its tag and length. */
const ALT_NAMES_ID = Uint8Array.of(0x06, 3, 0x55, 0x1d, 0x11);

const OCTET_STRING_TAG = 0x04;

/** Fields of a TBSCertificate (RFC 5280 §4.1): the subject comes after serial, algorithm, issuer and validity. */
const VERSION_TAG = 0xa0;
const EXTENSIONS_TAG = 0xa3;
const FIELDS_BEFORE_SUBJECT = 4;

/** A value in DER as the certificate has it. */
export interface DerValue {
  /** Kind and length, then the content. */
  readonly bytes: Uint8Array;
  /** The first byte, which says the kind. */
  readonly tag: number;
  readonly content: Uint8Array;
}

/** What a certificate names. */
export interface CertificateNames {
  readonly subject: DerValue;
  /** Each a GeneralName (RFC 5280 §4.2.1.6). */
  readonly altNames: readonly DerValue[];
}

/** A value with what the library made of it. */
interface ReadValue extends DerValue {
  readonly block: BaseBlock;
}

/**
 * The names in a certificate (DER), in its own bytes: texts made of them lose what kind of text it was, and bytes that are
 * no text, so that two names could pass for one. Returns undefined for what cannot be read, and never throws.
 */
export function namesIn(certificate: Uint8Array): CertificateNames | undefined {
  try {
    const fields = partsOf(partsOf(parse(certificate))[0]);
    const subject = fields[FIELDS_BEFORE_SUBJECT + (fields[0]?.tag === VERSION_TAG ? 1 : 0)];
    if (subject === undefined) throw new RangeError("Cannot read a certificate without subject");
    const extensions = fields.find(({ tag }) => tag === EXTENSIONS_TAG);
    return { subject, altNames: extensions === undefined ? [] : altNamesIn(extensions) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function altNamesIn(extensions: ReadValue): DerValue[] {
  return partsOf(partsOf(extensions)[0]).flatMap((extension) => {
    const [id, ...rest] = partsOf(extension);
    if (id === undefined || Buffer.compare(id.bytes, ALT_NAMES_ID) !== 0) return [];
    const value = rest.find(({ tag }) => tag === OCTET_STRING_TAG);
    if (value === undefined) throw new RangeError("Cannot read an extension without value");
    return partsOf(parse(value.content));
  });
}

/** All of `bytes` as one value. What the library throws is about them: an Error for a time that is none, say. */
function parse(bytes: Uint8Array): ReadValue {
  let read: ReturnType<typeof fromBER>;
  try {
    read = fromBER(bytes, { parseEmbedded: false });
  } catch (cause) {
    throw new RangeError("Cannot read DER", { cause });
  }
  if (read.offset !== bytes.length) throw new RangeError("Cannot read DER: it is cut or goes on");
  return valueOf(read.result);
}

function partsOf(value: ReadValue | undefined): ReadValue[] {
  if (!(value?.block instanceof Constructed)) throw new RangeError("Cannot read DER: no parts");
  return value.block.valueBlock.value.map(valueOf);
}

/**
 * Throws for a value that has no length (X.690 §10.1), or another than it says: the library (asn1js 4.0.0) reads more than
 * DER, and where a part runs over the end of the whole, it takes that for longer and goes on behind it.
 */
function valueOf(block: BaseBlock): ReadValue {
  const { idBlock, lenBlock, valueBeforeDecodeView: bytes } = block;
  const contentAt = idBlock.blockLength + lenBlock.blockLength;
  if (lenBlock.isIndefiniteForm || bytes.length !== contentAt + lenBlock.length) {
    throw new RangeError("Cannot read DER: a value has not the length that it says");
  }
  return { block, bytes, tag: bytes[0]!, content: bytes.subarray(contentAt) };
}
