/**
 * The provider's line to its engine: log lines on a resource's own row, and the news that the engine is gone.
 */
import { createRequire } from "node:module";
import { connect } from "node:net";

interface LogRequest {
  setSeverity(severity: number): void;
  setMessage(message: string): void;
  setUrn(urn: string): void;
  setEphemeral(ephemeral: boolean): void;
}

export type Severity = "info" | "warning";

/** The engine that started this provider process, by the address on its command line. */
export class Engine {
  private client: { log(request: LogRequest, callback: () => void): void } | undefined;
  private LogRequest: (new () => LogRequest) | undefined;

  constructor(readonly address: string) {}

  /**
   * Shows a message on a resource's row.
   *
   * @param ephemeral true for progress, which the next message replaces; false for what stays after the run
   */
  log(severity: Severity, message: string, row: string, ephemeral: boolean): void {
    const client = this.connected();
    const request = new (this.LogRequest as new () => LogRequest)();
    // LogSeverity of the engine's protocol: 1 is info, 2 is warning.
    request.setSeverity(severity === "info" ? 1 : 2);
    request.setMessage(message);
    request.setUrn(row);
    request.setEphemeral(ephemeral);
    // A lost progress line harms nobody, and the watch below notices an engine that is gone.
    client.log(request, () => undefined);
  }

  private connected() {
    if (this.client === undefined) {
      // Through the SDK's own dependency, so that there is one copy of gRPC whatever the package manager does.
      const fromSdk = createRequire(require.resolve("@pulumi/pulumi"));
      const grpc = fromSdk("@grpc/grpc-js");
      const { EngineClient } = fromSdk("./proto/engine_grpc_pb");
      this.LogRequest = fromSdk("./proto/engine_pb").LogRequest;
      this.client = new EngineClient(this.address, grpc.credentials.createInsecure());
    }
    return this.client as NonNullable<typeof this.client>;
  }
}

/**
 * Calls back once nobody answers at the address any more.
 * A killed engine does not end its providers, and one that lives on would work beside the next run.
 */
export function watchEngine(address: string, gone: () => void): void {
  const [host, port] = splitAddress(address);
  const socket = connect({ host, port });
  let wasConnected = false;
  socket.unref();
  // Only a socket that is read notices its end.
  socket.resume();
  socket.once("connect", () => {
    wasConnected = true;
  });
  socket.on("error", () => undefined);
  socket.once("close", () => {
    if (wasConnected) {
      // The engine also closes connections that say nothing for a while: only a refusal proves that it is gone.
      setTimeout(() => watchEngine(address, gone), 100).unref();
    } else {
      gone();
    }
  });
}

function splitAddress(address: string): [string, number] {
  const colon = address.lastIndexOf(":");
  return [address.slice(0, colon), Number(address.slice(colon + 1))];
}
