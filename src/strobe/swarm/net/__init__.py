"""Peers that talk: identity, addresses, authenticated sessions, calls over datagrams and streams on one port."""
