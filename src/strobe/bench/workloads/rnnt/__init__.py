"""Speech: RNN-T (Graves, Sequence Transduction with Recurrent Neural Networks, 2012), in the sizes of MLPerf."""
