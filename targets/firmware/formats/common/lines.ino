// Lines from the serial monitor, answers to it.
#include <bantam_lines.h>

static bool running = false;

static void answer(void*, const char* data, size_t size) { Serial.write(reinterpret_cast<const uint8_t*>(data), size); }

void setup() {
  Serial.begin(115200);
  while (!Serial) {
  }
  running = bantam_lines_start(answer, nullptr) == 0;
  if (running) Serial.print("ready\n");
}

void loop() {
  if (running && Serial.available() > 0) bantam_lines_put(static_cast<uint8_t>(Serial.read()));
}
