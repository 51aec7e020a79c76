/**
 * Sockets and time: the only room that touches either.
 *
 * A {@linkcode Pump} moves bytes between a socket and a {@linkcode Connection}: one read at a time, one write a turn
 * ({@linkcode Turn}). {@linkcode Timers} is every deadline of the process behind a single timer. Both sides of the
 * proxy dial and listen through here, over TCP or unix sockets, plain ({@linkcode dialPlain}, {@linkcode listen}) or
 * over TLS ({@linkcode dialTls}, {@linkcode listenTls}).
 *
 * TLS is node:tls over connections of Deno's: the one way to ask callers for certificates, to trust a private CA alone,
 * and to keep Nagle's algorithm off. {@linkcode readCertificates} checks files once, at the start;
 * {@linkcode CertificateWatch} follows them, and {@linkcode FileWatch} any other file.
 * What a peer's certificate names is read by asn1js, which enters through `x509.ts` alone and is loaded by the first
 * handshake that needs it.
 *
 * Invariants: Nagle's algorithm is off on every socket; never two writes under way on one; a peer that does not
 * read is not read from; a socket is closed exactly once, and by a pump that lingers after its peer has hung up or had a
 * second for that; what connections read into is bounded over all of them, and an idle one waits with little of it
 * ({@linkcode ReadBuffer}). A TLS socket that is handed over is past its handshake, speaks h2, and has a peer whose
 * certificate was verified, wherever one was asked for.
 *
 * @module
 */
export {
  type CertificateFile,
  type CertificateFiles,
  type CertificateReading,
  type Certificates,
  readCertificates,
} from "./certificates.ts";
export { type CertificateNews, CertificateWatch } from "./certificate_watch.ts";
export { type Address, addressName, type Dial, dialPlain, dialTcp } from "./dial.ts";
export { type FileText, FileWatch, MAX_FILE_BYTES, readFileText } from "./file_watch.ts";
export { listen, type ListenAddress, type Listening } from "./listen.ts";
export { Pump, type PumpOwner, type Socket, Turn } from "./pump.ts";
export { type Resolve, resolveHost } from "./resolve.ts";
export { SpareDescriptors } from "./spare_descriptors.ts";
export { clearStaleSocket } from "./stale_socket.ts";
export { Alarm, CallbackAlarm, type Clock, SYSTEM_CLOCK, Timers } from "./timers.ts";
export { dialTls, type TlsDialOptions } from "./tls_dial.ts";
export { listenTls, type Peer, type TlsListenOptions } from "./tls_listen.ts";
