package dev.loadline.wholesale;

/** What the company sells: the same in all warehouses, never changed. Prices are in cents. */
record Item(int id, String name, int price, String data) {
}
