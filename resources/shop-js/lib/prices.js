// What things cost.

export function priceOfPieces(pieces, price) {
  if (pieces < 0) {
    throw new RangeError("nobody buys less than nothing");
  }
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
  if (prices.length === 0) {
    throw new RangeError("the basket is empty");
  }
  const cheapest = Math.min(...prices);
  return cheapest;
}

export function averagePrice(prices) {
  if (prices.length === 0) {
    throw new RangeError("the basket is empty");
  }
  const average = totalPrice(prices) / prices.length;
  return average;
}

export function halfPrice(price) {
  const half = price / 2;
  return half;
}

export function moneyBack(paid, price) {
  if (paid < price) {
    throw new RangeError("that is not enough");
  }
  const change = paid - price;
  return change;
}

export function sumOfPrices(first, second) {
  const sum = first + second;
  return sum;
}

export function priceDifference(first, second) {
  const difference = Math.abs(first - second);
  return difference;
}

export function doublePrice(price) {
  const doubled = price * 2;
  return doubled;
}

export function largestPrice(prices) {
  const largest = Math.max(...prices);
  return largest;
}

export function roundedPrice(price) {
  const rounded = Math.round(price);
  return rounded;
}

export function priceWithTax(price) {
  const tax = price / 5;
  return price + tax;
}

export function discounted(price, percent) {
  const off = Math.min(percent, 50);
  return price - (price * off) / 100;
}

export function inCoins(cents) {
  const coins = [];
  let left = cents;
  for (const coin of [50, 20, 10, 5, 2, 1]) {
    while (left >= coin) {
      coins.push(coin);
      left -= coin;
    }
  }
  return coins;
}
