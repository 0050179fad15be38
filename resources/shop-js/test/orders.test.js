import assert from "node:assert/strict";
import { describe, it } from "node:test";

import * as orders from "../lib/orders.js";

const tea = { name: "tea", pieces: 2, price: 5 };
const rice = { name: "rice", pieces: 1, price: 3 };

describe("orders", () => {
  it("count their pieces and lines", () => {
    assert.equal(orders.piecesInOrder([tea, rice]), 3);
    assert.equal(orders.piecesInOrder([]), 0);
    assert.equal(orders.linesInOrder([tea, rice]), 2);
    assert.equal(orders.linesInOrder([]), 0);
  });
  it("may be empty", () => {
    assert.equal(orders.isEmptyOrder([]), true);
    assert.equal(orders.isEmptyOrder([tea]), false);
  });
  it("list names", () => {
    assert.deepEqual(orders.namesInOrder([tea, rice]), ["tea", "rice"]);
  });
});

describe("shipping", () => {
  it("is free for nothing and for much", () => {
    assert.equal(orders.shipping(0), 0);
    assert.equal(orders.shipping(40), 0);
  });
  it("costs something between", () => {
    assert.equal(orders.shipping(39), 4);
  });
});
