// search_costs FOLDER COUNT WIDTH: writes random vectors and queries to FOLDER/vectors.npy and queries.npy, indexes
// them, and prints one line of JSON: the milliseconds of a search for the nearest ten (the fastest and the median of
// many), and the results. search.py compares them with numpy's.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/npy.h"
#include "search/search.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kQueries = 50;
constexpr uint32_t kTop = 10;

std::vector<float> random_rows(std::mt19937& random, size_t count, size_t width) {
  std::normal_distribution<float> normal;
  std::vector<float> rows(count * width);
  for (float& v : rows) v = normal(random);
  return rows;
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::vector<float> row_of(const std::vector<float>& rows, size_t row, size_t width) {
  const auto begin = rows.begin() + static_cast<ptrdiff_t>(row * width);
  return {begin, begin + static_cast<ptrdiff_t>(width)};
}

int run(const std::string& folder, uint32_t count, uint32_t width) {
  std::mt19937 random(1);
  const std::vector<float> vectors = random_rows(random, count, width);
  const std::vector<float> queries = random_rows(random, kQueries, width);
  write(folder + "/vectors.npy", npy_file(vectors, count, width));
  write(folder + "/queries.npy", npy_file(queries, kQueries, width));
  IndexContents contents = {"0", "random", width, false, {}};
  for (uint32_t i = 0; i < count; ++i) contents.append(round_vector("", row_of(vectors, i, width), false));
  const std::vector<uint8_t> bytes = index_bytes(contents);
  write(folder + "/vectors.index", {bytes.begin(), bytes.end()});
  const SearchIndex index(folder + "/vectors.index");
  std::vector<double> times;
  std::string found;
  for (uint32_t q = 0; q < kQueries; ++q) {
    const std::vector<float> query = row_of(queries, q, width);
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<Found> nearest = find_nearest(index, query, kTop);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    found += q == 0 ? "[" : ", [";
    for (const Found& one : nearest) found += (&one == nearest.data() ? "" : ", ") + std::to_string(one.entry);
    found += "]";
  }
  std::sort(times.begin(), times.end());
  std::printf("{\"least_ms\": %.4f, \"median_ms\": %.4f, \"found\": [%s]}\n", times.front(), times[times.size() / 2],
              found.c_str());
  return 0;
}

}  // namespace
}  // namespace bantam::convert

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: search_costs FOLDER COUNT WIDTH\n");
    return 2;
  }
  try {
    return bantam::convert::run(argv[1], static_cast<uint32_t>(std::atoi(argv[2])),
                                static_cast<uint32_t>(std::atoi(argv[3])));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "search_costs: %s\n", error.what());
    return 1;
  }
}
