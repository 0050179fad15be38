package tiny

import (
	"reflect"
	"testing"
)

func same(t *testing.T, got, wanted interface{}) {
	t.Helper()
	if !reflect.DeepEqual(got, wanted) {
		t.Errorf("got %v, wanted %v", got, wanted)
	}
}

func TestRectangleArea(t *testing.T) {
	same(t, RectangleArea(3, 4), 12)
	same(t, RectangleArea(0, 9), 0)
}

func TestIsEven(t *testing.T) {
	same(t, IsEven(4), true)
	same(t, IsEven(7), false)
}

func TestAverage(t *testing.T) {
	same(t, Average([]float64{1, 2, 6}), 3.0)
	same(t, Average([]float64{5}), 5.0)
}

func TestDouble(t *testing.T) {
	same(t, Double(4), 8)
	same(t, Double(-3), -6)
}

func TestAbsolute(t *testing.T) {
	same(t, Absolute(-5), 5)
	same(t, Absolute(5), 5)
	same(t, Absolute(0), 0)
}

func TestLargest(t *testing.T) {
	same(t, Largest([]int{3, 9, 4}), 9)
	same(t, Largest([]int{-3, -9}), -3)
}

func TestLastItem(t *testing.T) {
	same(t, LastItem([]int{1, 2, 3}), 3)
	same(t, LastItem([]int{7}), 7)
}

func TestSquares(t *testing.T) {
	same(t, Squares([]int{1, -2, 3}), []int{1, 4, 9})
	same(t, len(Squares([]int{})), 0)
}

func TestWithoutNegatives(t *testing.T) {
	same(t, WithoutNegatives([]int{1, -2, 0, -4}), []int{1, 0})
	same(t, len(WithoutNegatives([]int{-1})), 0)
}

func TestFirstLetter(t *testing.T) {
	same(t, FirstLetter("apple"), "a")
	same(t, FirstLetter("Zoo"), "Z")
}

func TestInitials(t *testing.T) {
	same(t, Initials("ada lovelace"), "AL")
	same(t, Initials("Grace Brewster Hopper"), "GBH")
}

func TestLongestWord(t *testing.T) {
	same(t, LongestWord([]string{"a", "three", "of"}), "three")
	same(t, LongestWord([]string{"same", "size"}), "same")
}
