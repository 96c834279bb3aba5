/** The exact kernel against Python, over the vectors of write_vectors.py in the folder HARDMAX_VECTORS. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import fc from "fast-check";
import {
    certificateText,
    exactAttended,
    exactCloud,
    exactLayers,
    exactLimit,
    makeCertificate,
    readNumber,
} from "../../src/hardmax/page/js/exact.js";

const clouds = JSON.parse(readFileSync(`${process.env.HARDMAX_VECTORS}/clouds.json`, "utf8"));
const optionsOf = ({ alpha, metric, multiplicities, max_layers }) => ({
    alpha,
    metric,
    multiplicities: multiplicities ?? undefined,
    maxLayers: max_layers ?? undefined,
    budget: Infinity,
});

test(`limits of ${clouds.length} clouds are Python's, and so is every byte of their certificates`, () => {
    for (const cloud of clouds) {
        const found = exactLimit(cloud.tokens, optionsOf(cloud));
        const firstAt = found.points.numerators.map((_, point) => found.ofToken.indexOf(point));
        const kind = ({ kind, vertex, face }) =>
            kind === "vertex" ? `vertex ${firstAt[vertex]}` : kind === "face" ? `face ${face.map((v) => firstAt[v]).join(", ")}` : "elsewhere";
        assert.equal(found.settledAt, cloud.settled_at, JSON.stringify(cloud));
        assert.deepEqual(found.ofToken, cloud.of_token);
        assert.deepEqual(found.leaders, cloud.leaders);
        if (found.limits === null) {
            assert.equal(found.reason, cloud.stopped.split("; token")[0]);
            continue;
        }
        const limits = found.ofToken.map((point) => found.limits[point]);
        assert.equal(found.reason, "");
        assert.deepEqual(limits.map(kind), cloud.kinds);
        assert.deepEqual(limits.map(({ point }) => point), cloud.exact_points);
        assert.deepEqual(limits.map(({ floats }) => floats), cloud.floats);
        assert.equal(certificateText(makeCertificate(found, optionsOf(cloud))), cloud.certificate);
    }
});

test("layers and attended sets are Python's, one by one", () => {
    for (const cloud of clouds) {
        const found = exactLayers(cloud.tokens, optionsOf(cloud), cloud.layers.length - 1);
        assert.deepEqual(found.positions, cloud.layers.map(({ floats }) => floats));
        assert.deepEqual(found.sets, cloud.layers.map(({ attended }) => attended));
        assert.deepEqual(exactAttended(cloud.tokens, optionsOf(cloud)), cloud.layers[0].attended);
    }
});
