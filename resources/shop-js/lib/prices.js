// What things cost.

export function priceOfPieces(pieces, price) {
  const total = pieces * price;
  return total;
}

export function totalPrice(prices) {
  let total = 0;
  for (const price of prices) {
    total += price;
  }
  return total;
}

export function cheapestPrice(prices) {
  const cheapest = Math.min(...prices);
  return cheapest;
}

export function largestPrice(prices) {
  const largest = Math.max(...prices);
  return largest;
}

export function halfPrice(price) {
  const half = price / 2;
  return half;
}

export function doublePrice(price) {
  const doubled = price * 2;
  return doubled;
}

export function moneyBack(paid, price) {
  const change = paid - price;
  return change;
}

export function sumOfPrices(first, second) {
  const sum = first + second;
  return sum;
}

export function averageOfTwoPrices(first, second) {
  const average = (first + second) / 2;
  return average;
}

export function priceDifference(first, second) {
  const difference = Math.abs(first - second);
  return difference;
}

export function lowerPrice(first, second) {
  const lower = Math.min(first, second);
  return lower;
}

export function higherPrice(first, second) {
  const higher = Math.max(first, second);
  return higher;
}

export function roundedPrice(price) {
  const rounded = Math.round(price);
  return rounded;
}

export function priceRoundedDown(price) {
  const down = Math.floor(price);
  return down;
}

export function priceRoundedUp(price) {
  const up = Math.ceil(price);
  return up;
}

export function isSamePrice(first, second) {
  const same = first === second;
  return same;
}

export function priceWithTax(price) {
  const tax = price / 5;
  return price + tax;
}

export function discounted(price, percent) {
  const off = Math.min(percent, 50);
  return price - (price * off) / 100;
}
