# The flights example for docker-compose.yml; built from the root of the repository.
FROM node:24-slim
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
ENV STATE_DIR=/var/lib/millrace
VOLUME /var/lib/millrace
CMD ["node", "--import", "tsx", "examples/02-flight-delays/app.ts"]
