"""Two inputs, two outputs, a shared embedding; functions of TensorFlow between the layers."""
import numpy as np
import tensorflow as tf
from drawing import draw

words, length = 30, 6


def main():
    rng = np.random.RandomState(7)
    title = rng.randint(1, words, (48, length))
    body = rng.randint(1, words, (48, length))
    tags = rng.randint(0, 2, (48, 3)).astype('float32')
    priority = (title.mean(1, keepdims=True) > body.mean(1, keepdims=True)).astype('float32')
    department = rng.randint(0, 4, (48, 1))

    title_input = tf.keras.Input(shape=(None,), name='title', dtype='int32')
    body_input = tf.keras.Input(shape=(None,), name='body', dtype=tf.int32)
    tags_input = tf.keras.Input(shape=(3,), batch_size=None, name='tags')
    embed = tf.keras.layers.Embedding(words, 8)
    title_features = tf.keras.layers.GRU(6)(embed(title_input))
    body_features = tf.reduce_mean(embed(body_input), axis=1)
    x = tf.concat([title_features, body_features * 0.5, tags_input], axis=-1)
    x = tf.keras.layers.LayerNormalization(epsilon=1e-5)(x)
    left, right = x[:, :8], x[:, 8:]
    x = tf.keras.layers.concatenate([tf.nn.relu(left), 1.0 - tf.abs(right)])
    priority_pred = tf.keras.layers.Dense(1, name='priority', activation='sigmoid')(x)
    department_pred = tf.keras.layers.Dense(4, name='department')(x)
    model = tf.keras.Model(inputs=[title_input, body_input, tags_input],
                           outputs=[priority_pred, department_pred])
    draw(model)
    model.compile(
        optimizer=tf.keras.optimizers.Adagrad(0.05),
        loss={'priority': 'binary_crossentropy',
              'department': tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)},
        loss_weights={'priority': 1.0, 'department': 0.2},
        metrics={'priority': ['accuracy'], 'department': 'sparse_categorical_accuracy'})
    history = model.fit({'title': title, 'body': body, 'tags': tags},
                        {'priority': priority, 'department': department},
                        epochs=3, batch_size=16, verbose=0, shuffle=False,
                        sample_weight={'priority': np.linspace(0.5, 1.5, 48)})
    copy = tf.keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    predicted = model.predict([title[:3], body[:3], tags[:3]])
    return {
        'loss': history.history['loss'],
        'priority': history.history['priority_loss'],
        'accuracy': history.history['priority_acc'],
        'department': history.history['department_sparse_categorical_accuracy'],
        'first': predicted[0],
        'second': predicted[1],
        'copied': copy.predict([title[:3], body[:3], tags[:3]])[1],
    }
