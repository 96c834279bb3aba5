/** Verdicts of the page's checker: of each certificate, a line of stdin, a line of JSON. */
import { createInterface } from "node:readline";
import { verify } from "../../src/hardmax/page/js/verify.js";

for await (const line of createInterface({ input: process.stdin })) {
    const { accepted, decided, reason } = verify(line, { budget: 10_000 });
    console.log(JSON.stringify({ accepted, decided, reason }));
}
