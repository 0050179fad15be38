import assert from "node:assert/strict";
import test from "node:test";

import * as prices from "../lib/prices.js";

test("a price of pieces", () => {
  assert.equal(prices.priceOfPieces(3, 4), 12);
  assert.equal(prices.priceOfPieces(0, 4), 0);
});

test("the sum of prices", () => {
  assert.equal(prices.totalPrice([1, 2, 3]), 6);
  assert.equal(prices.totalPrice([]), 0);
  assert.equal(prices.sumOfPrices(4, 3), 7);
  assert.equal(prices.sumOfPrices(2, 0), 2);
});

test("the cheapest price and the largest", () => {
  assert.equal(prices.cheapestPrice([3, 1, 2]), 1);
  assert.equal(prices.cheapestPrice([8]), 8);
  assert.equal(prices.largestPrice([3, 9, 2]), 9);
  assert.equal(prices.largestPrice([8]), 8);
});

test("half a price and twice a price", () => {
  for (const price of [0, 4.5, 9]) {
    assert.equal(prices.halfPrice(2 * price), price);
    assert.equal(prices.doublePrice(price), 2 * price);
  }
});

test("money back", () => {
  assert.equal(prices.moneyBack(20, 13), 7);
  assert.equal(prices.moneyBack(5, 5), 0);
});

test("two prices compared", () => {
  assert.equal(prices.averageOfTwoPrices(4, 7), 5.5);
  assert.equal(prices.averageOfTwoPrices(2, 2), 2);
  assert.equal(prices.priceDifference(4, 7), 3);
  assert.equal(prices.priceDifference(7, 4), 3);
  assert.equal(prices.priceDifference(4, 4), 0);
  for (const [first, second] of [[4, 7], [7, 4]]) {
    assert.equal(prices.lowerPrice(first, second), 4);
    assert.equal(prices.higherPrice(first, second), 7);
  }
  assert.equal(prices.isSamePrice(4, 4), true);
  assert.equal(prices.isSamePrice(4, 7), false);
});

test("rounded prices", () => {
  assert.equal(prices.roundedPrice(2.4), 2);
  assert.equal(prices.roundedPrice(2.6), 3);
  assert.equal(prices.priceRoundedDown(2.6), 2);
  assert.equal(prices.priceRoundedDown(4), 4);
  assert.equal(prices.priceRoundedUp(2.4), 3);
  assert.equal(prices.priceRoundedUp(4), 4);
});

test("a price with its tax", () => {
  assert.equal(prices.priceWithTax(10), 12);
  assert.equal(prices.priceWithTax(20), 24);
});

test("a discount of at most a half", () => {
  assert.equal(prices.discounted(80, 25), 60);
  assert.equal(prices.discounted(80, 75), 40);
});
