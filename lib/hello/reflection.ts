import { type ServerDuplexStream, status, type UntypedServiceImplementation } from "./grpc.ts";
import type { ProtoFile } from "./proto_file.ts";

interface Question {
  readonly host: string;
  /** Name of the field that was sent. */
  readonly messageRequest?: string;
  readonly fileByFilename?: string;
  readonly fileContainingSymbol?: string;
  readonly fileContainingExtension?: { containingType: string; extensionNumber: number };
  readonly allExtensionNumbersOfType?: string;
  readonly listServices?: string;
}

interface Answer {
  fileDescriptorResponse?: { fileDescriptorProto: Uint8Array[] };
  allExtensionNumbersResponse?: { baseTypeName: string; extensionNumber: number[] };
  listServicesResponse?: { service: { name: string }[] };
  errorResponse?: { errorCode: number; errorMessage: string };
}

/**
 * The reflection service over `files`. The same handlers do for both packages in use, v1 and v1alpha. Files import
 * nothing, so each is answered alone; there are no extensions.
 */
export function reflectionHandlers(files: readonly ProtoFile[]): UntypedServiceImplementation {
  const byName = new Map(files.map((file) => [file.name, file]));
  const bySymbol = new Map(files.flatMap((file) => file.symbols.map((symbol) => [symbol, file])));
  const services = files.flatMap((file) => file.serviceNames).sort().map((name) => ({ name }));

  function answer(question: Question): Answer {
    switch (question.messageRequest) {
      case "listServices":
        return { listServicesResponse: { service: services } };
      case "fileByFilename":
        return found(byName.get(question.fileByFilename!), question.fileByFilename!);
      case "fileContainingSymbol":
        return found(bySymbol.get(question.fileContainingSymbol!), question.fileContainingSymbol!);
      case "allExtensionNumbersOfType": {
        const baseTypeName = question.allExtensionNumbersOfType!;
        if (!bySymbol.has(baseTypeName)) return found(undefined, baseTypeName);
        return { allExtensionNumbersResponse: { baseTypeName, extensionNumber: [] } };
      }
      case "fileContainingExtension":
        return found(undefined, `extension of ${question.fileContainingExtension!.containingType}`);
      default:
        return refused(status.INVALID_ARGUMENT, "Cannot answer an empty question");
    }
  }

  return {
    ServerReflectionInfo: (call: ServerDuplexStream<Question, unknown>) => {
      call.on("data", (question: Question) => {
        const { host: validHost } = question;
        call.write({ validHost, originalRequest: question, ...answer(question) });
      });
      call.on("end", () => call.end());
    },
  };
}

function found(file: ProtoFile | undefined, what: string): Answer {
  if (file === undefined) return refused(status.NOT_FOUND, `Cannot find ${what}`);
  return { fileDescriptorResponse: { fileDescriptorProto: [file.descriptor] } };
}

function refused(errorCode: number, errorMessage: string): Answer {
  return { errorResponse: { errorCode, errorMessage } };
}
