-- Tables of the auction site. Statements are separated by a semicolon at the end of a line.
-- Every query of Catalog is answered from one of these indexes; CatalogTest asks H2 whether it is.
-- Indexes are made before the rows: H2 in memory loads as fast, and one script is enough.
CREATE TABLE categories (
  id INT PRIMARY KEY,
  name VARCHAR(40) NOT NULL
);
CREATE TABLE regions (
  id INT PRIMARY KEY,
  name VARCHAR(40) NOT NULL
);
CREATE TABLE users (
  id INT PRIMARY KEY,
  nickname VARCHAR(24) NOT NULL,
  first_name VARCHAR(20) NOT NULL,
  last_name VARCHAR(24) NOT NULL,
  region INT NOT NULL REFERENCES regions (id),
  rating INT NOT NULL,
  member_since TIMESTAMP NOT NULL
);
CREATE TABLE items (
  id INT PRIMARY KEY,
  name VARCHAR(80) NOT NULL,
  description VARCHAR(4000) NOT NULL,
  category INT NOT NULL REFERENCES categories (id),
  region INT NOT NULL REFERENCES regions (id),
  seller INT NOT NULL REFERENCES users (id),
  initial_cents INT NOT NULL,
  buy_now_cents INT NOT NULL,
  quantity INT NOT NULL,
  bid_count INT NOT NULL,
  max_bid_cents INT NOT NULL,
  start_time TIMESTAMP NOT NULL,
  end_time TIMESTAMP NOT NULL
);
CREATE TABLE bids (
  id INT PRIMARY KEY,
  item INT NOT NULL REFERENCES items (id),
  bidder INT NOT NULL REFERENCES users (id),
  quantity INT NOT NULL,
  cents INT NOT NULL,
  placed TIMESTAMP NOT NULL
);
CREATE TABLE comments (
  id INT PRIMARY KEY,
  author INT NOT NULL REFERENCES users (id),
  about INT NOT NULL REFERENCES users (id),
  item INT NOT NULL REFERENCES items (id),
  rating INT NOT NULL,
  written TIMESTAMP NOT NULL,
  text VARCHAR(600) NOT NULL
);
CREATE INDEX items_by_category ON items (category, end_time, id);
CREATE INDEX items_by_region ON items (region, category, end_time, id);
CREATE INDEX items_by_seller ON items (seller, end_time);
CREATE INDEX bids_by_item ON bids (item, cents);
CREATE INDEX comments_about ON comments (about, written);
