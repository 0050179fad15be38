import assert from "node:assert/strict";
import test from "node:test";

import * as labels from "../lib/labels.js";

test("capitals", () => {
  assert.equal(labels.capitalized("green tea"), "Green tea");
  assert.equal(labels.capitalized(""), "");
});

test("short texts stay, long ones are cut", () => {
  assert.equal(labels.shortened("rice", 4), "rice");
  assert.equal(labels.shortened("brown rice", 6), "brown…");
});

test("prices", () => {
  assert.equal(labels.priceLabel(1205), "12.05");
  assert.equal(labels.priceLabel(99), "0.99");
});

test("lines of a receipt", () => {
  assert.equal(labels.receiptLine("tea", 450, 12), "tea.....4.50");
  assert.equal(labels.receiptLine("brown rice", 450, 5), "brown rice.4.50");
});
