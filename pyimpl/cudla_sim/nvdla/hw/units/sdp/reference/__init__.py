"""SDP in numpy, band by band: what compiled functions leave."""
