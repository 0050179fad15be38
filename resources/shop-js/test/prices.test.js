import assert from "node:assert/strict";
import test from "node:test";

import * as prices from "../lib/prices.js";

test("a price of pieces", () => {
  assert.equal(prices.priceOfPieces(3, 4), 12);
  assert.equal(prices.priceOfPieces(0, 4), 0);
  assert.throws(() => prices.priceOfPieces(-1, 4), RangeError);
});

test("the sum of prices", () => {
  assert.equal(prices.totalPrice([1, 2, 3]), 6);
  assert.equal(prices.totalPrice([]), 0);
});

test("the cheapest price", () => {
  assert.equal(prices.cheapestPrice([3, 1, 2]), 1);
  assert.throws(() => prices.cheapestPrice([]), RangeError);
});

test("the average price", () => {
  assert.equal(prices.averagePrice([1, 2, 6]), 3);
  assert.throws(() => prices.averagePrice([]), RangeError);
});

test("half a price", () => {
  assert.equal(prices.halfPrice(9), 4.5);
});

test("money back", () => {
  assert.equal(prices.moneyBack(20, 13), 7);
  assert.equal(prices.moneyBack(5, 5), 0);
  assert.throws(() => prices.moneyBack(5, 6), RangeError);
});

test("two prices", () => {
  assert.equal(prices.sumOfPrices(4, 3), 7);
  assert.equal(prices.priceDifference(4, 7), 3);
  assert.equal(prices.priceDifference(7, 4), 3);
});

test("twice a price", () => {
  assert.equal(prices.doublePrice(9), 18);
});

test("the largest price", () => {
  assert.equal(prices.largestPrice([3, 9, 2]), 9);
});

test("rounded prices", () => {
  assert.equal(prices.roundedPrice(2.4), 2);
  assert.equal(prices.roundedPrice(2.6), 3);
});

test("a price with its tax", () => {
  assert.equal(prices.priceWithTax(10), 12);
});

test("a discount of at most a half", () => {
  assert.equal(prices.discounted(80, 25), 60);
  assert.equal(prices.discounted(80, 75), 40);
});

test("cents in coins", () => {
  assert.deepEqual(prices.inCoins(88), [50, 20, 10, 5, 2, 1]);
  assert.deepEqual(prices.inCoins(4), [2, 2]);
  assert.deepEqual(prices.inCoins(0), []);
});
