/** A stream as RFC 9113 §5.1 tells it; "we" are the connection under test. */
export class ModelStream {
  readonly id: number;
  /** Header blocks that we sent, and the one that begins the peer's side (interim ones do not). */
  headsOut = 0;
  headIn = false;
  weEnded = false;
  peerEnded = false;
  weReset = false;
  peerReset = false;
  /** DATA bytes that we may still send; below zero after SETTINGS made the window smaller (§6.9.2). */
  sendWindow: number;
  /** DATA bytes that the peer may still send. */
  recvWindow: number;
  /** DATA that came, padding and all, and what of it we gave back. */
  receivedBytes = 0;
  announcedBytes = 0;
  /** DATA that came, the payload alone, and what content-length says of it (§8.1.1). */
  payloadBytes = 0;
  declaredBytes: number | undefined = undefined;

  constructor(id: number, windows: { send: number; recv: number }) {
    this.id = id;
    this.sendWindow = windows.send;
    this.recvWindow = windows.recv;
  }

  get isClosed(): boolean {
    return this.weReset || this.peerReset || this.weEnded && this.peerEnded;
  }

  /** The peer may go on sending. */
  get takesData(): boolean {
    return this.headIn && !this.peerEnded && !this.isClosed;
  }

  /** More than content-length says, or less at the end. */
  lengthDiffers(isEnd: boolean): boolean {
    const { declaredBytes, payloadBytes } = this;
    if (declaredBytes === undefined) return false;
    return isEnd ? payloadBytes !== declaredBytes : payloadBytes > declaredBytes;
  }
}
