export type Service<S extends import('@bufbuild/protobuf').DescService> = import('@connectrpc/connect').Client<S>;
/**
 * Returns the calls of a service. A request without an agent is of the agent of the connection, and a failed call throws a KiokuError.
 * @template {import('@bufbuild/protobuf').DescService} S
 * @param {S} desc
 * @param {{transport: import('@connectrpc/connect').Transport, target: string, agent?: string, timeoutMs: number}} connection
 * @returns {Service<S>}
 */
export declare function bindService<S extends import('@bufbuild/protobuf').DescService>(desc: S, { transport, target, agent, timeoutMs }: {
    transport: import('@connectrpc/connect').Transport;
    target: string;
    agent?: string;
    timeoutMs: number;
}): Service<S>;
