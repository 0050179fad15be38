import assert from "node:assert/strict";
import { describe, it } from "node:test";

import * as orders from "../lib/orders.js";

const tea = { name: "tea", pieces: 2, price: 5 };
const rice = { name: "rice", pieces: 1, price: 3 };
const salt = { name: "salt", pieces: 0, price: 9 };

describe("orders", () => {
  it("count their pieces", () => {
    assert.equal(orders.piecesInOrder([tea, rice]), 3);
    assert.equal(orders.piecesInOrder([]), 0);
  });
  it("cost what their lines cost", () => {
    assert.equal(orders.costOfOrder([tea, rice, salt]), 13);
  });
  it("list names in order", () => {
    assert.deepEqual(orders.namesInOrder([tea, rice, salt]), ["rice", "salt", "tea"]);
  });
  it("know their dearest line", () => {
    assert.equal(orders.dearestLine([tea, rice]), tea);
    assert.equal(orders.dearestLine([rice, salt]), salt);
    assert.equal(orders.dearestLine([]), null);
  });
});

describe("shipping", () => {
  it("is free for nothing and for much", () => {
    assert.equal(orders.shipping([]), 0);
    assert.equal(orders.shipping([{ name: "oil", pieces: 4, price: 10 }]), 0);
  });
  it("costs something between", () => {
    assert.equal(orders.shipping([tea]), 4);
  });
});
