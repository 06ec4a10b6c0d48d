import { createServer, type Server } from 'node:http';

/** A webhook receiver that answers every request at once. */
export class Sink {
  readonly #server: Server;
  #taken = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      request.resume();
      this.#taken += 1;
      response.end();
    });
  }

  get taken(): number {
    return this.#taken;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null)
      throw new Error('The webhook receiver listens on no port.');
    return `http://127.0.0.1:${address.port}/hook`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
