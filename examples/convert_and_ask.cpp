// convert_and_ask DIRECTORY TEXT: converts a model and prints what it says of a text.
#include <cstdio>

#include "bantam/convert.h"
#include "bantam/predict.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  bantam::Predictor predictor;
  bantam::Prediction answer;
  bantam::Outcome outcome = bantam::convert_directory(argv[1], "model.bantam");
  if (outcome) outcome = predictor.open("model.bantam");
  if (outcome) outcome = predictor.predict(argv[2], &answer);
  if (!outcome) std::fprintf(stderr, "%s\n", outcome.text().c_str());
  for (const auto& label : answer.labels) std::printf("%s %.3f\n", label.name.c_str(), label.score);
  for (const auto& slot : answer.entities) std::printf("  %s: %s\n", slot.name.c_str(), slot.text.c_str());
  return outcome.code;
}
