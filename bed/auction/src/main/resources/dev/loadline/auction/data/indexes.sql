-- What every query of Catalog, Members and Market is answered from (CatalogTest asks H2 whether it is).
-- Made after the rows: loading a million of them into an index costs more than sorting them once.
-- Descending columns where a page shows the newest or highest first and stops after a few.
CREATE UNIQUE INDEX users_by_nickname ON users (nickname);
CREATE INDEX items_by_category ON items (category, end_time, id);
CREATE INDEX items_by_region ON items (region, category, end_time, id);
CREATE INDEX items_by_seller ON items (seller, end_time);
CREATE INDEX old_items_by_seller ON old_items (seller, end_time DESC);
CREATE INDEX old_items_by_buyer ON old_items (buyer, end_time DESC);
CREATE INDEX bids_by_item ON bids (item, cents DESC);
CREATE INDEX bids_by_bidder ON bids (bidder, placed DESC);
CREATE INDEX buy_now_by_buyer ON buy_now (buyer, bought DESC);
CREATE INDEX comments_about ON comments (about, written DESC);
ALTER TABLE items ADD CONSTRAINT items_seller FOREIGN KEY (seller) REFERENCES users (id);
ALTER TABLE old_items ADD CONSTRAINT old_items_seller FOREIGN KEY (seller) REFERENCES users (id);
ALTER TABLE bids ADD CONSTRAINT bids_item FOREIGN KEY (item) REFERENCES items (id);
ALTER TABLE bids ADD CONSTRAINT bids_bidder FOREIGN KEY (bidder) REFERENCES users (id);
ALTER TABLE buy_now ADD CONSTRAINT buy_now_buyer FOREIGN KEY (buyer) REFERENCES users (id);
ALTER TABLE comments ADD CONSTRAINT comments_about_user FOREIGN KEY (about) REFERENCES users (id);
