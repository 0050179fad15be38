import assert from "node:assert/strict";
import test from "node:test";

import * as labels from "../lib/labels.js";

test("capitals", () => {
  assert.equal(labels.capitalized("green tea"), "Green tea");
  assert.equal(labels.capitalized(""), "");
});

test("prices", () => {
  assert.equal(labels.priceLabel(12), "12.00");
  assert.equal(labels.priceLabel(0.994), "0.99");
  assert.equal(labels.dollarLabel(12), "$12");
  assert.equal(labels.dollarLabel(3.5), "$3.5");
});

test("words and lines", () => {
  assert.equal(labels.trimmed("  Brown rice, 2 kg "), "Brown rice, 2 kg");
  assert.equal(labels.wordsOnLabel(["Brown", "rice"]), "Brown rice");
  assert.equal(labels.wordsOnLabel([]), "");
  assert.equal(labels.dottedLine(4), "....");
  assert.equal(labels.dottedLine(0), "");
});

test("what a label holds", () => {
  const questions = [labels.startsWith, labels.containsWord, labels.endsWith];
  const held = (word) => questions.map((question) => question("Green tea", word));
  assert.deepEqual(held("Green"), [true, true, false]);
  assert.deepEqual(held("tea"), [false, true, true]);
  assert.deepEqual(held("Tea"), [false, false, false]);
});
