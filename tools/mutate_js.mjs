/** Mutants of the page's checker: do its tests notice an operator or a number that is wrong?
 *
 *     node tools/mutate_js.mjs VECTORS [COUNT [SEED]]      after python tests/page/write_vectors.py VECTORS
 *
 * Each mutant of verify.js has one operator, number or quantifier that is another; messages are left alone. It is tried
 * by tests/page/verify.test.js in a copy of both. Prints the survivors. Needs the packages of tests/page. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const ts = createRequire(join(root, "tests/page/package.json"))("typescript");
const [vectors, count = "50", seed = "1"] = process.argv.slice(2);
const [modules, test, file] = ["src/hardmax/page/js", "tests/page/verify.test.js", "src/hardmax/page/js/verify.js"];
const SECONDS = 60; // of processor time, for one mutant
const OTHERS = {
    "<": ["<=", ">"], "<=": ["<"], ">": [">=", "<"], ">=": [">"], "===": ["!=="], "!==": ["==="], "&&": ["||"],
    "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "**": ["*"], "%": ["*"], "<<": [">>"], ">>": ["<<"],
    "+=": ["-="], "*=": ["+="], "!": [""], every: ["some"], some: ["every"], true: ["false"], false: ["true"],
};

/** Where a mutant differs from the source, and what stands there. */
function mutants(source) {
    const [found, tree] = [[], ts.createSourceFile(file, source, ts.ScriptTarget.ES2022, true)];
    const isLimit = (node) => ts.isVariableStatement(node) && node.parent === tree && /^const VERIFY_/.test(node.getText());
    const visit = (node) => {
        if (ts.isTemplateExpression(node) || ts.isJSDoc(node) || isLimit(node)) return;
        const text = node.getText();
        const number = (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) && BigInt(text.replaceAll(/[_n]/g, ""));
        const suffix = text.endsWith("n") ? "n" : "";
        let others = node.getChildCount() || !Object.hasOwn(OTHERS, text) ? [] : OTHERS[text];
        if (typeof number === "bigint") others = [number + 1n, number && number - 1n].map((value) => `${value}${suffix}`);
        for (const other of others) if (other !== text) found.push({ at: node.getStart(), text, other });
        node.getChildren().forEach(visit);
    };
    visit(tree);
    return found;
}

/** The same numbers at every run, at least 0 and below 1: mulberry32. */
function random(state) {
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let x = Math.imul(state ^ (state >>> 15), 1 | state);
        x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
        return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
    };
}

const folder = mkdtempSync(join(tmpdir(), "mutants-"));
for (const path of [modules, test, "tests/page/package.json"]) cpSync(join(root, path), join(folder, path), { recursive: true });
const passes = () => spawnSync("sh", ["-c", `ulimit -t ${SECONDS}; exec node ${test}`],
    { cwd: folder, env: { ...process.env, HARDMAX_VECTORS: vectors }, stdio: "ignore" }).status === 0;
const source = readFileSync(join(root, file), "utf8");
if (!passes()) throw new Error("the tests must pass on the source as it is");
const [all, next] = [mutants(source), random(Number(seed))];
let survived = 0;
for (let k = 1; k <= Number(count); k++) {
    const [{ at, text, other }] = all.splice(Math.floor(next() * all.length), 1);
    writeFileSync(join(folder, file), source.slice(0, at) + other + source.slice(at + text.length));
    if (passes()) {
        survived++;
        const [before, line] = [source.slice(0, at).split("\n"), source.slice(at).split("\n")[0]];
        console.log(`survived: line ${before.length}: ${before.at(-1).trim()} «${text} => ${other}» ${line.slice(text.length)}`);
    }
    if (k % 10 === 0) console.error(`${k - survived} of ${k} killed`);
}
console.log(`${Number(count) - survived} of ${count} killed`);
rmSync(folder, { recursive: true });
