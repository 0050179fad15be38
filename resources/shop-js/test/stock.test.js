import assert from "node:assert/strict";
import test from "node:test";

import * as stock from "../lib/stock.js";

const shelves = { tea: 4, rice: 0, salt: 1 };

test("whether there is enough", () => {
  assert.equal(stock.hasEnough(shelves, "tea", 4), true);
  assert.equal(stock.hasEnough(shelves, "tea", 5), false);
  assert.equal(stock.hasEnough(shelves, "oil", 1), false);
});

test("what is left after taking some", () => {
  assert.deepEqual(stock.taken(shelves, "tea", 3), { tea: 1, rice: 0, salt: 1 });
  assert.deepEqual(shelves, { tea: 4, rice: 0, salt: 1 });
  assert.throws(() => stock.taken(shelves, "rice", 1), /not enough rice/);
});

test("all pieces", () => {
  assert.equal(stock.piecesInStock(shelves), 5);
});

test("what to order again", () => {
  assert.deepEqual(stock.toReorder(shelves, 3), { rice: 6, salt: 5 });
  assert.deepEqual(stock.toReorder(shelves, 1), { rice: 2 });
});
