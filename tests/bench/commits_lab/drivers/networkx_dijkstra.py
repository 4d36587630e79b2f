# SPDX-License-Identifier: GPL-3.0-or-later
import sys

sys.path.insert(0, ".")
import networkx

G = networkx.gnm_random_graph(1500, 9000, seed=1)
for i, (a, b) in enumerate(G.edges):
    G[a][b]["weight"] = i * 7919 % 101 + 1
for source in range(8):
    networkx.single_source_dijkstra_path_length(G, source)
