export type ConnectOptions = {
    /**
     * `unix:/path/to/kioku.sock` or `host:port`; otherwise KIOKU_CLIENT_TARGET, and then the socket of
     * `kioku serve` (KIOKU_SOCKET, or the one in the state folder).
     */
    target?: string;
    /**
     * Token of the service; otherwise KIOKU_CLIENT_TOKEN. `env:NAME` and `file:PATH` name where it is.
     */
    token?: string;
    /**
     * PEM file of the authorities of the service; otherwise KIOKU_CLIENT_CA, and then those of Node.
     */
    ca?: string;
    /**
     * PEM file of the certificate to show; otherwise KIOKU_CLIENT_CERT.
     */
    cert?: string;
    /**
     * PEM file of the key of that certificate; otherwise KIOKU_CLIENT_KEY.
     */
    key?: string;
    /**
     * Agent whose memory it is; otherwise KIOKU_AGENT, and then the only one that the token may reach.
     */
    agent?: string;
    /**
     * Limit of a call that waits for no language model; 30,000 unless it is set.
     */
    timeoutMs?: number;
};
/**
 * Where the service is, and who asks. What is not set comes from the environment that the command kioku reads too.
 * @typedef {object} ConnectOptions
 * @property {string} [target] `unix:/path/to/kioku.sock` or `host:port`; otherwise KIOKU_CLIENT_TARGET, and then the socket of
 *   `kioku serve` (KIOKU_SOCKET, or the one in the state folder).
 * @property {string} [token] Token of the service; otherwise KIOKU_CLIENT_TOKEN. `env:NAME` and `file:PATH` name where it is.
 * @property {string} [ca] PEM file of the authorities of the service; otherwise KIOKU_CLIENT_CA, and then those of Node.
 * @property {string} [cert] PEM file of the certificate to show; otherwise KIOKU_CLIENT_CERT.
 * @property {string} [key] PEM file of the key of that certificate; otherwise KIOKU_CLIENT_KEY.
 * @property {string} [agent] Agent whose memory it is; otherwise KIOKU_AGENT, and then the only one that the token may reach.
 * @property {number} [timeoutMs] Limit of a call that waits for no language model; 30,000 unless it is set.
 */
/** Maximum size in bytes of a request. A longer one is not sent: the service would end the connection, and with it the calls beside it. */
export declare const maxRequestBytes: number;
/**
 * Returns the target of the options and the environment: `unix:/path` or `host:port`.
 * @param {ConnectOptions} [options]
 * @param {Record<string, string | undefined>} [env]
 * @returns {string}
 */
export declare function findTarget(options?: ConnectOptions, env?: Record<string, string | undefined>): string;
/**
 * Opens a connection, with the first call.
 * @param {ConnectOptions} options
 * @param {Record<string, string | undefined>} [env]
 */
export declare function openConnection(options: ConnectOptions, env?: Record<string, string | undefined>): {
    target: string;
    transport: import("@connectrpc/connect").Transport;
    close: () => void;
};
