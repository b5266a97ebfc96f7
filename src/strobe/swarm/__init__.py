"""The decentralised part: a DHT and experts that peers serve to each other, without daemons."""
