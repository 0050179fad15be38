function rectangleArea(width, height) {
  return width * height;
}

function isEven(number) {
  return number % 2 === 0;
}

function average(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function double(number) {
  return number * 2;
}

function absolute(number) {
  return number >= 0 ? number : -number;
}

module.exports = { rectangleArea, isEven, average, double, absolute };
