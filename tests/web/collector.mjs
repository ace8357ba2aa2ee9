// collector.mjs: a real `limpet serve` for tests in a browser. $BUILD has the program.
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";

const START_MS = 30000;

export class Collector {
  // Start it and wait until it serves; `port` 0 is any.
  static async start(args, port = 0) {
    const c = new Collector();
    c.said = "";
    c.process = spawn(join(process.env.BUILD, "src/cli/limpet"), ["serve", "--listen", `127.0.0.1:${port}`, ...args],
      { stdio: ["ignore", "pipe", "pipe"] });
    c.ended = new Promise((resolve) => c.process.on("exit", resolve));
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the collector does not serve: ${c.said}`)), START_MS);
      const take = (data) => {
        c.said += data;
        const found = /serving (http:\/\/[\d.]+:(\d+))/.exec(c.said);
        if (!found) return;
        clearTimeout(timer);
        c.url = `${found[1]}/`;
        c.port = Number(found[2]);
        resolve();
      };
      c.process.stdout.on("data", take);
      c.process.stderr.on("data", take);
      c.process.on("exit", (code) => reject(new Error(`the collector ended (${code}): ${c.said}`)));
    });
    return c;
  }
  // The token of an operator of the collector that keeps its data there.
  static enroll(data, operator) {
    return execFileSync(join(process.env.BUILD, "src/cli/limpet"), ["serve", "enroll", "--data", data, "--operator", operator],
      { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  }
  async get(path) {
    const answer = await fetch(`${this.url}api/v1/${path}`);
    return answer.json();
  }
  // End it, by default in good order.
  async stop(signal = "SIGTERM") {
    this.process.kill(signal);
    const late = setTimeout(() => this.process.kill("SIGKILL"), 10000);
    await this.ended;
    clearTimeout(late);
  }
}
